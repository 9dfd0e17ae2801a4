/**
 * Administration of leaders, replicas, the quorum and features. A cluster has one broker. Each of these APIs responds
 * with what is true for one broker, in the terms of the protocol, so that tools work unchanged.
 */
package io.journalq.server.api.admin.cluster;
