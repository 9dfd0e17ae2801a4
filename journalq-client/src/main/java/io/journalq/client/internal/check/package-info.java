/** Checks of arguments of the public API. Depends on no other package of the project. */
package io.journalq.client.internal.check;
