/** Invariants that stay on in production. Knows nothing of the rest of the project. */
package io.journalq.common.check;
