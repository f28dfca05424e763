"""The probe itself: answers, perturbed answers, user turns, stage by stage into a study."""
