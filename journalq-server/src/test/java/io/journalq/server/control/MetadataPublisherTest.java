package io.journalq.server.control;

import static org.assertj.core.api.Assertions.assertThat;

import io.journalq.common.id.Uuid;
import io.journalq.server.metadata.MetadataDelta;
import io.journalq.server.metadata.MetadataImage;
import io.journalq.server.metadata.MetadataMachine;
import io.journalq.server.metadata.TestBrokers;
import io.journalq.server.metadata.TopicSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class MetadataPublisherTest {
    private final MetadataMachine metadata = new MetadataMachine(new MetadataMachine.Limits(0, 1, 10, 100));
    private final MetadataPublisher publisher = new MetadataPublisher(Runnable::run);
    private final List<CompletableFuture<Void>> preparations = new ArrayList<>();
    private final List<MetadataImage> followed = new ArrayList<>();

    /** Prepares each image until a test completes it. */
    private final class Preparing implements MetadataPublisher.Listener {
        @Override
        public CompletableFuture<Void> prepare(MetadataDelta delta) {
            CompletableFuture<Void> preparation = new CompletableFuture<>();
            preparations.add(preparation);
            return preparation;
        }

        @Override
        public void onImage(MetadataDelta delta) {
            assertThat(publisher.current()).isSameAs(delta.now());
            followed.add(delta.now());
        }
    }

    MetadataPublisherTest() {
        TestBrokers.register(metadata, 0);
    }

    private MetadataImage publishTopic(int number) {
        return publishTopic(publisher, number);
    }

    private MetadataImage publishTopic(MetadataPublisher target, int number) {
        TopicSpec spec = new TopicSpec("topic-" + number, 1, 1, List.of(), Map.of());
        MetadataDelta delta =
                metadata.replay(metadata.createTopic(spec, new Uuid(1, number)).records());
        target.publish(delta);
        return delta.now();
    }

    @Test
    void shouldMissNoImageWhenAListenerIsAddedWhileAnImageIsBeingPrepared() {
        // given
        publisher.addListener(new Preparing());
        MetadataImage first = publishTopic(1);
        List<MetadataImage> later = new ArrayList<>();

        // when
        MetadataImage read = publisher.addListener(delta -> later.add(delta.now()));
        MetadataImage second = publishTopic(2);
        preparations.forEach(preparation -> preparation.complete(null));

        // then
        assertThat(read).isSameAs(first);
        assertThat(later).contains(second);
    }

    @Test
    void shouldKnowTheNewestImageWhenItIsStillBeingPrepared() {
        publisher.addListener(new Preparing());

        MetadataImage image = publishTopic(1);

        assertThat(publisher.newest()).isSameAs(image);
        assertThat(publisher.current()).isNotSameAs(image);
    }

    @Test
    void shouldPublishInTheOrderOfTheLogWhenALaterImageIsPreparedFirst() {
        publisher.addListener(new Preparing());
        MetadataImage first = publishTopic(1);
        CompletableFuture<Void> firstPublished = publisher.published();
        MetadataImage second = publishTopic(2);

        preparations.get(1).complete(null);
        assertThat(publisher.current()).isSameAs(MetadataImage.EMPTY);
        assertThat(firstPublished).isNotDone();

        preparations.get(0).complete(null);
        assertThat(followed).containsExactly(first, second);
        assertThat(publisher.published()).isCompleted();
    }

    @Test
    void shouldPublishAtOnceWhenNothingHasToBePrepared() {
        assertThat(publishTopic(1)).isSameAs(publisher.current());
        assertThat(publisher.published()).isCompleted();
    }

    @Test
    void shouldPublishWhenAListenerFails() {
        publisher.addListener(new MetadataPublisher.Listener() {
            @Override
            public CompletableFuture<Void> prepare(MetadataDelta delta) {
                throw new IllegalStateException("a defect before the image");
            }

            @Override
            public void onImage(MetadataDelta delta) {
                throw new IllegalStateException("a defect after the image");
            }
        });
        publisher.addListener(new Preparing());

        MetadataImage image = publishTopic(1);
        preparations.get(0).completeExceptionally(new IllegalStateException("another defect"));

        assertThat(followed).containsExactly(image);
        assertThat(publisher.published()).isCompleted();
    }

    @Test
    void shouldPublishWhenItsExecutorIsOverloaded() {
        MetadataPublisher overloaded = new MetadataPublisher(work -> {
            throw new RejectedExecutionException("too much work");
        });
        CompletableFuture<Void> prepared = new CompletableFuture<>();
        overloaded.addListener(new MetadataPublisher.Listener() {
            @Override
            public CompletableFuture<Void> prepare(MetadataDelta delta) {
                return prepared;
            }

            @Override
            public void onImage(MetadataDelta delta) {
                followed.add(delta.now());
            }
        });
        MetadataImage image = publishTopic(overloaded, 1);

        prepared.complete(null);

        assertThat(followed).containsExactly(image);
    }
}
