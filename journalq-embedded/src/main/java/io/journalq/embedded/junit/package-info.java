/** The embedded broker as a parameter of JUnit Jupiter tests. The only package that knows JUnit. */
package io.journalq.embedded.junit;
