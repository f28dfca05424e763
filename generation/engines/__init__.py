"""Token ids in, token ids out: vLLM in this process, vLLM servers, Ray; one protocol."""
