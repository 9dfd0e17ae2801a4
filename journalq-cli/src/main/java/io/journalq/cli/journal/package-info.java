/** Commands that read the files of a broker that does not run, and mend them when told to. */
package io.journalq.cli.journal;
