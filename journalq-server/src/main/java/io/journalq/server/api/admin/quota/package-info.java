/** Administration of client quotas: what clients may do at most (KIP-546). */
package io.journalq.server.api.admin.quota;
