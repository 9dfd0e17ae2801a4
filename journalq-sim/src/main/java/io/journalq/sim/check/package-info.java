/** The checks, one file for each guarantee. In: histories, and what was read back. Out: violations. */
package io.journalq.sim.check;
