package io.idempotency.it.message;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.Idempotent;
import io.idempotency.autoconfigure.IdempotencyAutoConfiguration;
import io.idempotency.test.ConcurrentDuplicates;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.event.EventListener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** An event that is published twice has its effect once. */
class EventListenerTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(IdempotencyAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory")
		.withUserConfiguration(Deliveries.class, Listeners.class);

	@Test
	void duplicateIsSkipped() {
		this.runner.run((context) -> {
			context.publishEvent(new Paid("7"));
			context.publishEvent(new Paid("7"));
			assertThat(context.getBean(Deliveries.class).effectsOf("7")).isEqualTo(1);
		});
	}

	@Test
	void rejectedDuplicateIsSkippedAndThePublisherSeesNothing() {
		this.runner.run((context) -> {
			context.publishEvent(new Shipped("7"));
			context.publishEvent(new Shipped("7"));
			assertThat(context.getBean(Deliveries.class).effectsOf("7")).isEqualTo(1);
		});
	}

	@Test
	void publisherIsToldThatTheFirstCallStillRuns() {
		this.runner.run((context) -> {
			CountDownLatch running = new CountDownLatch(1);
			CountDownLatch end = new CountDownLatch(1);
			CompletableFuture<Void> elsewhere = CompletableFuture
				.runAsync(() -> context.getBean(IdempotencyTemplate.class)
					.operation("paid")
					.key("8")
					.execute(Void.class, () -> {
						running.countDown();
						Awaitility.await().until(() -> end.getCount() == 0);
						return null;
					}));
			running.await();
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(() -> context.publishEvent(new Paid("8")));
			end.countDown();
			elsewhere.join();
			context.publishEvent(new Paid("8"));
			assertThat(context.getBean(Deliveries.class).effectsOf("8")).isZero();
		});
	}

	@Test
	void stormOfDuplicatesHasOneEffectForEachEvent() {
		this.runner.run((context) -> {
			List<Paid> events = IntStream.range(0, 50).mapToObj((number) -> new Paid("storm-" + number)).toList();
			ConcurrentDuplicates.of(8).deliver(events, context.getBean(Listeners.class)::paid).valuesOrFail();
			assertThat(events).allSatisfy(
					(event) -> assertThat(context.getBean(Deliveries.class).effectsOf(event.id())).isEqualTo(1));
		});
	}

	/** A duplicate that published it again would not be skipped. */
	@ParameterizedTest
	@ValueSource(strings = { "now", "later", "unkept" })
	void followingEventOfADuplicateIsNotPublishedAgain(String when) {
		this.runner.run((context) -> {
			for (int i = 0; i < 2; i++) {
				context.publishEvent(switch (when) {
					case "now" -> new Packed("7");
					case "later" -> new PackedLater("7");
					default -> new PackedUnkept("7");
				});
			}
			Deliveries deliveries = context.getBean(Deliveries.class);
			assertThat(deliveries.effectsOf("sent 7")).isEqualTo(1);
		});
	}

	/** What a listener returns is subscribed to when it has returned: then it works. */
	@Test
	void workOfASubscriptionThatFailsIsDoneWhenItsEventComesAgain() {
		this.runner.run((context) -> {
			Deliveries deliveries = context.getBean(Deliveries.class);
			for (int i = 1; i <= 3; i++) {
				context.publishEvent(new Booked("7"));
			}
			assertThat(deliveries.enteredBy("7")).isEqualTo(2);
			assertThat(deliveries.effectsOf("7")).isEqualTo(1);
		});
	}

	record Paid(String id) {
	}

	record Booked(String id) {
	}

	record Shipped(String id) {
	}

	record Packed(String id) {
	}

	record PackedLater(String id) {
	}

	record PackedUnkept(String id) {
	}

	static class Listeners {

		private final Deliveries deliveries;

		Listeners(Deliveries deliveries) {
			this.deliveries = deliveries;
		}

		@EventListener
		@Idempotent(key = "#event.id", operation = "paid")
		public void paid(Paid event) {
			this.deliveries.effect(event.id());
		}

		@EventListener
		@Idempotent("#event.id")
		public Mono<Void> booked(Booked event) {
			return Mono.fromRunnable(() -> {
				if (this.deliveries.enter(event.id()) == 1) {
					throw new IllegalStateException("The first try fails");
				}
				this.deliveries.effect(event.id());
			});
		}

		@EventListener
		@Idempotent("#event.id")
		public String packed(Packed event) {
			return event.id();
		}

		@EventListener
		@Idempotent("#event.id")
		public CompletableFuture<String> packedLater(PackedLater event) {
			return CompletableFuture.completedFuture(event.id());
		}

		@EventListener
		@Idempotent(key = "#event.id", keepResult = false)
		public String packedUnkept(PackedUnkept event) {
			return event.id();
		}

		@EventListener
		public void sent(String id) {
			this.deliveries.effect("sent " + id);
		}

		@EventListener
		@Idempotent(key = "#event.id", mode = IdempotencyMode.REJECT)
		public void shipped(Shipped event) {
			this.deliveries.effect(event.id());
		}

	}

}
