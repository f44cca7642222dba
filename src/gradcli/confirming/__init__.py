"""The numbers of an answer held against arithmetic with digits to spare."""
