/** The embedded broker as a parameter of JUnit Jupiter tests. No other package depends on JUnit. */
package io.journalq.embedded.junit;
