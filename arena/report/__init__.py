"""The page of a run: question, answer, evidence, method, in one file of HTML."""
