/**
 * The presentation of results, for all commands: tables, CSV, JSON, charts and pages, with machine, commit and JDK. Input:
 * rows of named values. Output: text and files. Must not know what a value means.
 */
package io.journalq.bench.output;
