/**
 * The promises, one file each: what they compare, and when what is found breaks them. In: histories and what was read
 * back. Out: violations.
 */
package io.journalq.sim.check;
