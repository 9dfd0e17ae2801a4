/** Checks of invariants that stay enabled in production. Depends on no other package of the project. */
package io.journalq.common.check;
