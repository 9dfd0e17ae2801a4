package io.journalq.common.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import org.junit.jupiter.api.Test;

class FileProblemTest {
    @Test
    void shouldSayWhyAFileCannotBeUsedWhenItsExceptionDoesNot() {
        assertThat(FileProblem.reason(new NoSuchFileException("a"))).isEqualTo("there is no such file");
        assertThat(FileProblem.reason(new AccessDeniedException("a"))).isEqualTo("permission denied");
        assertThat(FileProblem.reason(new MalformedInputException(1))).isEqualTo("it is not text in UTF-8");
        assertThat(FileProblem.reason(new FileSystemException("a", null, "Too many levels of symbolic links")))
                .isEqualTo("Too many levels of symbolic links");
        assertThat(FileProblem.reason(new IOException("Is a directory"))).isEqualTo("Is a directory");
    }

    @Test
    void shouldNameTheFileWhenTheExceptionKnowsIt() {
        assertThat(FileProblem.message(new NoSuchFileException("a"))).isEqualTo("a does not exist");
        assertThat(FileProblem.message(new AccessDeniedException("a"))).isEqualTo("a: permission denied");
        assertThat(FileProblem.message(new FileSystemException("a", null, "Too many levels of symbolic links")))
                .isEqualTo("a: Too many levels of symbolic links");
        assertThat(FileProblem.message(new IOException("a is too large"))).isEqualTo("a is too large");
    }
}
