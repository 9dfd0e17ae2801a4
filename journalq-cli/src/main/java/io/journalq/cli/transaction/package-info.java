/** Commands that look after transactions of producers, over {@code journalq-client}'s admin. */
package io.journalq.cli.transaction;
