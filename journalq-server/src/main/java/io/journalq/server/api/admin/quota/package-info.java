/** Administration of client quotas (KIP-546). */
package io.journalq.server.api.admin.quota;
