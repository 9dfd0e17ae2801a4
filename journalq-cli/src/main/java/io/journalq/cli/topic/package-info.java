/** Commands for topics, configurations and the cluster. They use {@code journalq-client}. */
package io.journalq.cli.topic;
