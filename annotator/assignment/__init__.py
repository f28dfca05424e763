"""Which item goes to whom: as many labels per item as wanted, and none handed out twice."""
