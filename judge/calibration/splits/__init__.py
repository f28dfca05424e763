"""Dev and test: which half of the questions a prompt is written on, which it is tested on."""
