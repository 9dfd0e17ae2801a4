/**
 * How results leave the program, the same for every command: tables, CSV and JSON with the machine, commit and JDK that
 * they were measured on. In come rows of named values; it must not know what they mean.
 */
package io.journalq.bench.output;
