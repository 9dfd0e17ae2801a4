/**
 * Tables and charts of documents, from the raw results next to them. Input: documents with marked places, and results as
 * JSON. Output: the documents with filled places. Must not know what a result means.
 */
package io.journalq.bench.report;
