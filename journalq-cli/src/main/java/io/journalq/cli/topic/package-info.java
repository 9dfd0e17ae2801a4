/** Commands that look after topics, configs and the cluster, over {@code journalq-client}'s admin. */
package io.journalq.cli.topic;
