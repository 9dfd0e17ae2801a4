/**
 * The Java client in a Spring Boot application: {@code journalq.*} properties in; a producer, an admin, a template, a
 * factory of consumers and running listener methods out. Everything is closed with the application context.
 */
package io.journalq.spring.boot;
