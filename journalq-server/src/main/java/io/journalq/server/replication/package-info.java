/**
 * The replicas of a partition: how far a replica's log reaches, and how far it may be read. In come the ends of the log
 * and leader epochs; out come the high watermark and the errors for clients that know another epoch.
 *
 * <p>Pure: knows no threads, clocks, sockets or files.
 */
package io.journalq.server.replication;
