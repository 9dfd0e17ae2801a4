/**
 * Tables and charts of documents, made from the raw results that stand beside them. In: documents with marked places, and
 * results as JSON. Out: the same documents with those places filled. It must not know what a result means.
 */
package io.journalq.bench.report;
