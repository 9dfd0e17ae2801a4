/** Commands for the keys and the registry of end-to-end encryption. They use {@code journalq-seal}. */
package io.journalq.cli.keys;
