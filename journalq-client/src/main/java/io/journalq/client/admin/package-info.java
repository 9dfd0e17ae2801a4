/** Values that {@link io.journalq.client.Admin} takes and returns. All of them are immutable. */
package io.journalq.client.admin;
