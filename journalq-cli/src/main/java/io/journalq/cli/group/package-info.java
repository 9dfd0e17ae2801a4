/** Commands that look after consumer groups and their offsets, over {@code journalq-client}. */
package io.journalq.cli.group;
