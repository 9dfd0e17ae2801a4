/** Commands that read the files of a stopped broker, and repair them on request. */
package io.journalq.cli.journal;
