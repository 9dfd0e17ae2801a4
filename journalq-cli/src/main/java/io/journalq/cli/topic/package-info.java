/** Commands for topics and configurations. They use {@code journalq-client}. */
package io.journalq.cli.topic;
