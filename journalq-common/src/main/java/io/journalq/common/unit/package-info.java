/** Units of time and size as users write them. Depends on no other package of the project. */
package io.journalq.common.unit;
