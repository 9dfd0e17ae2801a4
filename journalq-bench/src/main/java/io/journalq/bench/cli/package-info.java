/** The benchmark's command line: options in, a table, CSV or JSON out; exit codes 0 fine, 1 failed, 2 usage. */
package io.journalq.bench.cli;
