"""The calibration workbench: the study owner's page, never in the annotators' process or port."""
