/** Commands for transactions of producers. They use {@code journalq-client}. */
package io.journalq.cli.transaction;
