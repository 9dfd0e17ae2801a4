/**
 * Administration of leaders, replicas, the quorum and features. A cluster is one broker here: each of these APIs answers
 * with what is true of that, in the protocol's own terms, so that tools work unchanged.
 */
package io.journalq.server.api.admin.cluster;
