/** Commands for consumer groups and their offsets. They use {@code journalq-client}. */
package io.journalq.cli.group;
