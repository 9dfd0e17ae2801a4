package io.journalq.server.gateway.http;

import com.fasterxml.jackson.core.JsonGenerator;
import io.journalq.server.gateway.problem.Problem;
import java.io.IOException;

/** The form in which a route describes errors. Stateless, any thread. */
public interface ErrorForm {
    /** Problem documents (RFC 9457). */
    ErrorForm PROBLEM = new ErrorForm() {
        @Override
        public String type() {
            return Problem.MEDIA_TYPE;
        }

        @Override
        public void write(JsonGenerator json, Problem problem) throws IOException {
            problem.writeMembers(json);
        }
    };

    /** The media type of the document. */
    String type();

    /** Writes the members of the document, without its braces. */
    void write(JsonGenerator json, Problem problem) throws IOException;
}
