-- Part of the key of every cached result of the ontology: clear_cache raises it. (state.cache_generation is part of it too: for all ontologies at once.)
ALTER TABLE kg_catalog.ontologies ADD COLUMN cache_generation bigint NOT NULL DEFAULT 1;
