package io.idempotency.autoconfigure;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyContext;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyTemplate.Call;
import io.idempotency.IdempotencyTokens;
import io.idempotency.RememberedFailureException;
import io.idempotency.TransactionMode;
import io.idempotency.reactor.ReactiveIdempotencyContext;
import io.idempotency.reactor.ReactiveIdempotencyTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Mockito;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jackson.JacksonAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** The template of code that must not block. */
class ReactiveTemplateTests {

	private static final Consumer<Call> SEVEN = (call) -> call.key("7");

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(JacksonAutoConfiguration.class, IdempotencyAutoConfiguration.class,
				IdempotencyDisabledAutoConfiguration.class))
		.withPropertyValues("idempotency.store=memory");

	private final AtomicInteger runs = new AtomicInteger();

	private void with(Consumer<ReactiveIdempotencyTemplate> test) {
		this.application.run((context) -> test.accept(context.getBean(ReactiveIdempotencyTemplate.class)));
	}

	private Mono<Integer> count(ReactiveIdempotencyTemplate template, Consumer<Call> description) {
		return template.execute("count", description, Integer.class,
				() -> Mono.fromSupplier(this.runs::incrementAndGet));
	}

	@Test
	void claimsAtEachSubscriptionAndRunsOnce() {
		with((template) -> {
			Mono<Integer> counted = count(template, SEVEN);
			assertThat(this.runs).hasValue(0);
			assertThat(counted.block()).isEqualTo(1);
			assertThat(counted.block()).isEqualTo(1);
			assertThat(count(template, (call) -> call.key("8")).block()).isEqualTo(2);
			assertThat(this.runs).hasValue(2);
		});
	}

	@Test
	void workThatGivesItsValueBeforeItsEndIsNotCancelled() {
		List<String> ends = new CopyOnWriteArrayList<>();
		// As that of a transaction: its end comes after the value, and a cancel rolls
		// back.
		Supplier<Flux<Integer>> transaction = () -> Flux.usingWhen(Mono.just("connection"),
				(connection) -> Flux.just(this.runs.incrementAndGet()),
				(connection) -> Mono.fromRunnable(() -> ends.add("commit")),
				(connection, ex) -> Mono.fromRunnable(() -> ends.add("rollback")),
				(connection) -> Mono.fromRunnable(() -> ends.add("rollback")));
		with((template) -> assertThat(template.execute("flux", SEVEN, Integer.class, transaction).block())
			.isEqualTo(1));
		this.application.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context.getBean(ReactiveIdempotencyTemplate.class)
				.execute("flux", SEVEN, Integer.class, transaction)
				.block()).isEqualTo(2));
		assertThat(ends).containsExactly("commit", "commit");
	}

	@Test
	void moreThanOneValueIsAFailure() {
		with((template) -> {
			Mono<Integer> two = template.execute("two", SEVEN, Integer.class,
					() -> Flux.just(this.runs.incrementAndGet(), 0));
			assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(two::block);
			assertThatExceptionOfType(IndexOutOfBoundsException.class).isThrownBy(two::block);
			assertThat(this.runs).hasValue(2);
		});
	}

	@Test
	void emptyIsAResult() {
		with((template) -> {
			Mono<Void> nothing = template.execute("nothing", SEVEN, Void.class,
					() -> Mono.fromRunnable(this.runs::incrementAndGet));
			assertThat(nothing.blockOptional()).isEmpty();
			assertThat(nothing.blockOptional()).isEmpty();
			assertThat(this.runs).hasValue(1);
		});
	}

	@Test
	void resultOfAGenericTypeIsReadAsThat() {
		with((template) -> {
			Mono<List<Payments.Receipt>> receipts = template.call("list", SEVEN,
					new ParameterizedTypeReference<List<Payments.Receipt>>() {
					}.getType(), () -> Mono.just(List.of(new Payments.Receipt("7", this.runs.incrementAndGet()))));
			assertThat(receipts.block()).isEqualTo(receipts.block());
			assertThat(this.runs).hasValue(1);
		});
	}

	@Test
	void descriptionIsThatOfTheOtherTemplate() {
		with((template) -> {
			count(template, (call) -> call.key("7").fingerprint("12.50")).block();
			assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(count(template, (call) -> call.key("7").fingerprint("99.00"))::block);
			assertThatExceptionOfType(IdempotencyKeyMissingException.class).isThrownBy(count(template, (call) -> {
			})::block);
			Mono<Integer> failing = template.execute("failing", (call) -> call.key("7").onFailure(FailureMode.REMEMBER),
					Integer.class, () -> Mono.error(new IOException("gateway " + this.runs.incrementAndGet())));
			assertThatExceptionOfType(Exception.class).isThrownBy(failing::block)
				.withCauseExactlyInstanceOf(IOException.class);
			assertThatExceptionOfType(RememberedFailureException.class).isThrownBy(failing::block)
				.withMessageContaining("gateway 2");
		});
	}

	@Test
	void failureFreesTheKey() {
		with((template) -> {
			Mono<Integer> failing = template.execute("failing", SEVEN, Integer.class, () -> {
				throw new IllegalStateException("gateway " + this.runs.incrementAndGet());
			});
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(failing::block).withMessage("gateway 1");
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(failing::block).withMessage("gateway 2");
		});
	}

	@Test
	void duplicateIsRejectedOrWaitsWithoutAThread() {
		with((template) -> {
			Sinks.One<String> work = Sinks.one();
			Consumer<Call> waiting = (
					call) -> call.key("7").conflict(ConflictMode.WAIT).waitTimeout(Duration.ofMinutes(1));
			CompletableFuture<String> first = template.execute("pay", SEVEN, String.class, work::asMono).toFuture();
			CompletableFuture<String> second = template.execute("pay", waiting, String.class, () -> Mono.just("again"))
				.toFuture();
			assertThatExceptionOfType(IdempotencyInProgressException.class)
				.isThrownBy(template.execute("pay", SEVEN, String.class, () -> Mono.just("again"))::block);
			assertThat(second).isNotDone();
			work.tryEmitValue("paid");
			assertThat(first).isCompletedWithValue("paid");
			assertThat(second.join()).isEqualTo("paid");
		});
	}

	@Test
	void workGoesOnWhenTheSubscriberCancels() {
		with((template) -> {
			Sinks.One<String> work = Sinks.one();
			Disposable caller = template.execute("pay", SEVEN, String.class, work::asMono).subscribe();
			caller.dispose();
			work.tryEmitValue("paid");
			assertThat(template.execute("pay", SEVEN, String.class, () -> Mono.just("again")).block())
				.isEqualTo("paid");
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "mono", "future", "value" })
	void recoveryLooksTheResultUp(String form) {
		with((template) -> {
			Consumer<Call> recovered = (call) -> call.key("7").keepResult(false).recover(() -> switch (form) {
				case "mono" -> Mono.just("found");
				case "future" -> CompletableFuture.completedFuture("found");
				default -> "found";
			});
			assertThat(template.execute("pay", recovered, String.class, () -> Mono.just("paid")).block())
				.isEqualTo("paid");
			assertThat(template.execute("pay", recovered, String.class, () -> Mono.just("again")).block())
				.isEqualTo("found");
		});
	}

	@Test
	void failureThatMeansAlreadyDoneIsLookedUp() {
		with((template) -> assertThat(template
			.execute("pay",
					(call) -> call.key("7").duplicateOn(IllegalStateException.class).recover(() -> Mono.just("found")),
					String.class, () -> Mono.error(new IllegalStateException("unique")))
			.block()).isEqualTo("found"));
	}

	@Test
	void contextIsInTheWork() {
		with((template) -> {
			Mono<String> released = template.execute("pay", SEVEN, String.class,
					() -> ReactiveIdempotencyContext.get()
						.doOnNext(IdempotencyContext::releaseKey)
						.map((call) -> call.key() + " " + call.operation() + " " + this.runs.incrementAndGet()));
			assertThat(released.block()).endsWith("pay 1");
			assertThat(released.block()).endsWith("pay 2");
		});
	}

	@Test
	void whatContradictsItselfIsRejectedBeforeAnythingRuns() {
		this.application
			.withBean(DataSourceTransactionManager.class,
					() -> new DataSourceTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:template")))
			.run((context) -> {
				ReactiveIdempotencyTemplate template = context.getBean(ReactiveIdempotencyTemplate.class);
				assertThatIllegalArgumentException()
					.isThrownBy(count(template, (call) -> call.key("7").transaction(TransactionMode.JOIN))::block)
					.withMessageContaining("'count'")
					.withMessageContaining("joins a transaction");
				assertThatIllegalArgumentException().isThrownBy(
						template.call("count", SEVEN, new ParameterizedTypeReference<CompletableFuture<String>>() {
						}.getType(), () -> Mono.fromSupplier(this.runs::incrementAndGet))::block)
					.withMessageContaining("The type of 'count' must be the element type of its Mono");
				assertThatIllegalArgumentException()
					.isThrownBy(template.execute("count", SEVEN, Mono.class, Mono::empty)::block)
					.withMessageContaining("'count'");
				assertThat(this.runs).hasValue(0);
			});
	}

	@Test
	void tokenIsOneOfTheCallerOfTheThread() {
		this.application.run((context) -> {
			ReactiveIdempotencyTemplate template = context.getBean(ReactiveIdempotencyTemplate.class);
			String token = context.getBean(IdempotencyTokens.class).issue().token();
			assertThat(count(template, (call) -> call.token(token)).block()).isEqualTo(1);
			assertThat(count(template, (call) -> call.token(token)).block()).isEqualTo(1);
		});
	}

	@Test
	void everythingRunsWhereNothingIsGuarded() {
		this.application.withPropertyValues("idempotency.enabled=false").run((context) -> {
			Mono<Integer> counted = count(context.getBean(ReactiveIdempotencyTemplate.class), SEVEN);
			assertThat(counted.block()).isEqualTo(1);
			assertThat(counted.block()).isEqualTo(2);
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void templateOfTheApplicationGoesFirst(boolean enabled) {
		ReactiveIdempotencyTemplate own = Mockito.mock(ReactiveIdempotencyTemplate.class);
		this.application.withPropertyValues("idempotency.enabled=" + enabled)
			.withBean("own", ReactiveIdempotencyTemplate.class, () -> own)
			.run((context) -> assertThat(context).getBean(ReactiveIdempotencyTemplate.class).isSameAs(own));
	}

}
