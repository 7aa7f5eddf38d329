"""The drain of what is unfiled: judged by enrichment's judge, doubles merged, noise expired."""
