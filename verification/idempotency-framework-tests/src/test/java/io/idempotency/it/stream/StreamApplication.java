package io.idempotency.it.stream;

import java.util.function.Consumer;
import java.util.function.Function;

import io.idempotency.Idempotent;
import io.idempotency.messaging.KafkaBackOff;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.kafka.listener.DefaultErrorHandler;
import org.springframework.messaging.Message;
import org.springframework.util.backoff.FixedBackOff;

/** Guarded functions, each bound to a topic of its own. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import(StreamEffects.class)
class StreamApplication {

	private static final long PAUSE = 200;

	@Bean
	Payments payments(StreamEffects effects) {
		return new Payments(effects);
	}

	@Bean
	Receipts receipts(StreamEffects effects) {
		return new Receipts(effects);
	}

	/** What {@link Receipts} answered. */
	@Bean
	Consumer<String> answers(StreamEffects effects) {
		return effects::answer;
	}

	@Bean
	Bookings book(StreamEffects effects) {
		return new Bookings(effects);
	}

	/** As the documentation has it. */
	@Bean
	Consumer<Paid> bookings(Bookings bookings) {
		return bookings::book;
	}

	@Bean
	Patient patient(StreamEffects effects) {
		return new Patient(effects);
	}

	/** As the documentation has it, with pauses that a test can wait for. */
	@Bean
	DefaultErrorHandler untilDecided() {
		DefaultErrorHandler handler = new DefaultErrorHandler(new FixedBackOff(0, 1));
		KafkaBackOff recipe = new KafkaBackOff();
		handler.setBackOffFunction((record, failure) -> (recipe.apply(record, failure) != null)
				? new FixedBackOff(PAUSE, FixedBackOff.UNLIMITED_ATTEMPTS) : null);
		return handler;
	}

	record Paid(String id) {
	}

	record Receipt(String id, int number) {
	}

	/** Its first try of some events fails. */
	static class Payments implements Consumer<Paid> {

		private final StreamEffects effects;

		Payments(StreamEffects effects) {
			this.effects = effects;
		}

		@Override
		@Idempotent("#event.id")
		public void accept(Paid event) {
			if (this.effects.enter(event.id()) == 1 && event.id().startsWith("failing")) {
				throw new IllegalStateException("The first try of " + event.id() + " fails");
			}
			this.effects.effect(event.id());
		}

	}

	/** Its answer differs from run to run. */
	static class Receipts implements Function<Message<Paid>, Receipt> {

		private final StreamEffects effects;

		Receipts(StreamEffects effects) {
			this.effects = effects;
		}

		@Override
		@Idempotent("#message.headers['Idempotency-Key']")
		public Receipt apply(Message<Paid> message) {
			String id = message.getPayload().id();
			this.effects.effect(id);
			return new Receipt(id, this.effects.enter(id));
		}

	}

	static class Bookings {

		private final StreamEffects effects;

		Bookings(StreamEffects effects) {
			this.effects = effects;
		}

		@Idempotent("#event.id")
		public void book(Paid event) {
			this.effects.effect(event.id());
		}

	}

	/** An event whose first call still runs comes again until that is decided. */
	static class Patient implements Consumer<Paid> {

		static final String OPERATION = "patient";

		private final StreamEffects effects;

		Patient(StreamEffects effects) {
			this.effects = effects;
		}

		@Override
		@Idempotent(key = "#event.id", operation = OPERATION)
		public void accept(Paid event) {
			this.effects.effect(event.id());
		}

	}

}
