/** Commands that look after transactions of producers, over {@code journalq-client}'s admin. */
package io.journalq.server.cli.transaction;
