"""What is written in many ways, each in one: years of eras, days and times, telephone numbers, percentages."""
