"""Stages that measure the memory: is it filled in, does it say anything, does it sound alike."""
