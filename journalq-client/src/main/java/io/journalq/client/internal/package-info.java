/**
 * The implementation of the client. Not part of the API: it is excluded from the Javadoc and may change in any release.
 *
 * <p>Dependencies point downwards: {@code admin}, {@code transaction} and {@code membership} use {@code coordinator},
 * {@code produce} and {@code fetch}, and all of them use {@code network}. Entry points of the API build on these packages;
 * nothing here knows the entry points.
 */
package io.journalq.client.internal;
