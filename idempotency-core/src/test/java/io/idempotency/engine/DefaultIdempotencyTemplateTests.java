package io.idempotency.engine;

import java.io.IOException;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.idempotency.AbandonedMode;
import io.idempotency.ConflictMode;
import io.idempotency.FailureMode;
import io.idempotency.IdempotencyDuplicateException;
import io.idempotency.IdempotencyInProgressException;
import io.idempotency.IdempotencyKeyMissingException;
import io.idempotency.IdempotencyKeyReusedException;
import io.idempotency.IdempotencyMode;
import io.idempotency.IdempotencyOptions;
import io.idempotency.IdempotencyOutcomeUnknownException;
import io.idempotency.IdempotencyResultUnavailableException;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokenUnknownException;
import io.idempotency.RememberedFailureException;
import io.idempotency.TransactionMode;
import io.idempotency.key.Caller;
import io.idempotency.key.IdempotencyKey;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * The engine for code without an annotation.
 */
class DefaultIdempotencyTemplateTests {

	private final EngineFixture node = new EngineFixture();

	private final IdempotencyTemplate template = template(IdempotencyOptions.DEFAULTS);

	private final AtomicInteger runs = new AtomicInteger();

	@AfterEach
	void close() {
		this.node.close();
	}

	@Test
	void actionRunsOnceForItsKey() {
		assertThat(call().execute(String.class, counted("one"))).isEqualTo("one");
		assertThat(call().execute(String.class, counted("two"))).isEqualTo("one");
		assertThat(this.runs).hasValue(1);
		assertThat(this.node.events.operations()).containsOnly("payment.create");
	}

	@Test
	void keyIsOperationScopeAndParts() {
		this.template.operation("payment.create").scope("tenant").key("a", 7).execute(String.class, counted("one"));
		assertThat(this.node.store.claims()).singleElement()
			.satisfies((request) -> assertThat(request.key())
				.isEqualTo(IdempotencyKey.of("payment.create", Caller.scope("tenant"), List.of("a", "7"))));
	}

	/** A tenant that is missing must never become a scope that all share. */
	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "")
	void scopeThatIsMissingIsRejected(@Nullable String scope) {
		assertThatIllegalArgumentException().isThrownBy(() -> call().scope(scope))
			.withMessageContaining("scope")
			.withMessageContaining("payment.create");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void keyWithoutAScopeIsNobodysInParticular() {
		call().execute(String.class, counted("one"));
		assertThat(this.node.store.claims()).singleElement()
			.satisfies((request) -> assertThat(request.key())
				.isEqualTo(IdempotencyKey.of("payment.create", Caller.GLOBAL, "order-1")));
	}

	@Test
	void partsOfManyTypesMakeAKey() {
		UUID id = UUID.fromString("00000000-0000-0001-0000-000000000002");
		this.template.operation("payment.create")
			.key(id, 1.5, true, ConflictMode.WAIT, Duration.ofSeconds(1), new BigDecimal("1e9"))
			.execute(String.class, counted("one"));
		assertThat(this.node.store.claims()).singleElement()
			.satisfies((request) -> assertThat(request.key().value()).isEqualTo(id + ",1.5,true,WAIT,PT1S,1E+9"));
	}

	@Test
	void otherPartsAreAnotherKey() {
		this.template.operation("o").key("a", "b").execute(String.class, counted("one"));
		assertThat(this.template.operation("o").key("a,b").execute(String.class, counted("two"))).isEqualTo("two");
		assertThat(this.template.operation("p").key("a", "b").execute(String.class, counted("three")))
			.isEqualTo("three");
	}

	@Test
	void callWithoutAKeyIsRejected() {
		for (IdempotencyTemplate.Call call : List.of(this.template.operation("payment.create"),
				this.template.operation("payment.create").key(), this.template.operation("payment.create").key("a", ""),
				this.template.operation("payment.create").key((Object) null))) {
			assertThatExceptionOfType(IdempotencyKeyMissingException.class)
				.isThrownBy(() -> call.execute(String.class, counted("one")))
				.withMessageContaining("'payment.create'");
		}
		assertThat(this.runs).hasValue(0);
		assertThat(this.node.store.sequence()).isEmpty();
	}

	@Test
	void partOfATypeThatCannotBeAKeyIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.template.operation("o").key(new Object()))
			.withMessageContaining("java.lang.Object");
	}

	@Test
	void fingerprintMustBeEqual() {
		call().fingerprint("EUR", null, 7).execute(String.class, counted("one"));
		assertThat(call().fingerprint("EUR", null, 7).execute(String.class, counted("two"))).isEqualTo("one");
		for (Object[] other : List.of(new Object[] { "EUR", "", 7 }, new Object[] { "EUR", null, 8 },
				new Object[] { "EUR", null })) {
			assertThatExceptionOfType(IdempotencyKeyReusedException.class)
				.isThrownBy(() -> call().fingerprint(other).execute(String.class, counted("two")));
		}
	}

	@Test
	void fingerprintIsNotComparedUnlessOneIsGiven() {
		call().fingerprint("EUR").execute(String.class, counted("one"));
		assertThat(call().execute(String.class, counted("two"))).isEqualTo("one");
	}

	@Test
	void modeIsTheCalls() {
		call().mode(IdempotencyMode.REJECT).execute(String.class, counted("one"));
		assertThatExceptionOfType(IdempotencyDuplicateException.class)
			.isThrownBy(() -> call().mode(IdempotencyMode.REJECT).execute(String.class, counted("two")));
	}

	@Test
	void conflictAndWaitTimeoutAreTheCalls() {
		this.node.claimElsewhere(TestPolicy.replay());
		AtomicInteger claims = new AtomicInteger();
		this.node.store.on(ScriptedStore.Verb.CLAIM, ScriptedStore.Point.AFTER, ScriptedStore.ALWAYS, () -> {
			claims.incrementAndGet();
			this.node.ticker.advance(Duration.ofSeconds(2));
		});
		IdempotencyTemplate.Call waiting = this.template.operation(TestPolicy.OPERATION)
			.key("key-1")
			.conflict(ConflictMode.WAIT)
			.waitTimeout(Duration.ofSeconds(3));
		assertThatExceptionOfType(IdempotencyInProgressException.class)
			.isThrownBy(() -> waiting.execute(String.class, counted("one")));
		assertThat(claims).hasValue(3);
	}

	@Test
	void failureModeIsTheCalls() {
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(() -> call().onFailure(FailureMode.REMEMBER).execute(String.class, () -> {
				throw new IllegalStateException("first");
			}));
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> call().execute(String.class, counted("two")))
			.withMessage("first");
	}

	@Test
	void retentionAndLeaseAreTheCalls() {
		call().retention(Duration.ofMinutes(2)).lease(Duration.ofSeconds(3)).execute(String.class, counted("one"));
		assertThat(this.node.store.claims()).singleElement().satisfies((request) -> {
			assertThat(request.retention()).isEqualTo(Duration.ofMinutes(2));
			assertThat(request.lease()).isEqualTo(Duration.ofSeconds(3));
		});
	}

	@Test
	void abandonedModeIsTheCalls() {
		this.node.claimElsewhere(TestPolicy.replay());
		this.node.clock.advance(Duration.ofSeconds(30));
		IdempotencyTemplate.Call rejecting = this.template.operation(TestPolicy.OPERATION)
			.key("key-1")
			.onAbandoned(AbandonedMode.REJECT);
		assertThatExceptionOfType(IdempotencyOutcomeUnknownException.class)
			.isThrownBy(() -> rejecting.execute(String.class, counted("one")));
	}

	@Test
	void whatACallDoesNotSayIsTheDefault() {
		IdempotencyOptions defaults = TestPolicy.replay()
			.lease(Duration.ofSeconds(7))
			.retention(Duration.ofDays(2))
			.remembering()
			.rejecting()
			.waiting()
			.build();
		catchThrowable(() -> template(defaults).operation("o").key("k").execute(String.class, () -> {
			throw new IllegalStateException("first");
		}));
		assertThat(this.node.store.claims()).singleElement().satisfies((request) -> {
			assertThat(request.lease()).isEqualTo(Duration.ofSeconds(7));
			assertThat(request.retention()).isEqualTo(Duration.ofDays(2));
			assertThat(request.takeOver()).isFalse();
			assertThat(request.key().operation()).isEqualTo("o");
		});
		assertThatExceptionOfType(RememberedFailureException.class)
			.isThrownBy(() -> template(defaults).operation("o").key("k").execute(String.class, counted("two")));
	}

	@Test
	void defaultOfACallIsTheTemplatesDefault() {
		assertThat(call().conflict(ConflictMode.DEFAULT)
			.onFailure(FailureMode.DEFAULT)
			.execute(String.class, counted("one"))).isEqualTo("one");
	}

	@Test
	void appliesOptionsThatSeveralCallsShare() {
		Consumer<IdempotencyOptions.Builder> shared = (options) -> options.mode(IdempotencyMode.LOCK)
			.lease(Duration.ofSeconds(3));
		call().options(shared).execute(String.class, counted("one"));
		assertThat(call().options(shared).retention(Duration.ofHours(1)).execute(String.class, counted("two")))
			.isEqualTo("two");
		assertThat(this.node.store.claims()).extracting((request) -> request.lease())
			.containsExactly(Duration.ofSeconds(3), Duration.ofSeconds(3));
		assertThat(this.node.store.claims().get(1).retention()).isEqualTo(Duration.ofHours(1));
	}

	@Test
	void durationThatIsNotPositiveIsRejected() {
		for (Consumer<IdempotencyTemplate.Call> wrong : Arrays.<Consumer<IdempotencyTemplate.Call>>asList(
				(call) -> call.lease(Duration.ZERO), (call) -> call.retention(Duration.ofSeconds(-1)),
				(call) -> call.waitTimeout(Duration.ZERO))) {
			IdempotencyTemplate.Call call = call();
			wrong.accept(call);
			assertThatIllegalArgumentException().isThrownBy(() -> call.execute(String.class, counted("one")))
				.withMessageContaining("'payment.create'")
				.withMessageContaining("must be positive");
		}
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void nullIsAResult() {
		assertThat(call().execute(String.class, counted(null))).isNull();
		assertThat(call().execute(String.class, counted("two"))).isNull();
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void actionWithoutAResultRunsOnce() {
		call().run(this.runs::incrementAndGet);
		call().run(this.runs::incrementAndGet);
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void callableRunsOnceAndItsCheckedExceptionPassesUnchanged() throws Exception {
		IOException failure = new IOException("first");
		Callable<String> failing = () -> {
			throw failure;
		};
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> call().call(String.class, failing))
			.isSameAs(failure);
		Callable<String> second = () -> "second";
		assertThat(call().<String>call(String.class, second)).isEqualTo("second");
		assertThat(call().<String>call(String.class, failing)).isEqualTo("second");
	}

	@Test
	void whateverAnActionThrowsPassesUnchanged() {
		for (Throwable failure : List.of(new IOException("undeclared"), new StackOverflowError("error"),
				new IllegalStateException("runtime"), new Throwable("neither"))) {
			assertThat(catchThrowable(() -> call().execute(String.class, () -> sneaky(failure)))).isSameAs(failure);
			assertThat(catchThrowable(() -> call().call(String.class, () -> sneaky(failure)))).isSameAs(failure);
			assertThat(catchThrowable(() -> call().run(() -> sneaky(failure)))).isSameAs(failure);
		}
		assertThat(call().execute(String.class, counted("one"))).isEqualTo("one");
	}

	@Test
	void resultThatWasNotKeptIsLookedUp() {
		call().execute(String.class, counted(TextCodec.UNREADABLE));
		assertThat(call().recover(() -> "found").execute(String.class, counted("two"))).isEqualTo("found");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> call().recover(() -> null).execute(String.class, counted("two")));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void exceptionThatSaysAlreadyDoneIsAnsweredFromTheBusinessData() {
		assertThat(call().duplicateOn(IllegalStateException.class)
			.duplicateOn(IOException.class)
			.recover(() -> "found")
			.execute(String.class, () -> sneaky(new IOException("unique index")))).isEqualTo("found");
		assertThat(call().execute(String.class, counted("two"))).isEqualTo("found");
		assertThat(this.runs).hasValue(0);
	}

	@Test
	void exceptionThatSaysAlreadyDoneIsTheCauseOfTheRejection() {
		IOException duplicate = new IOException("unique index");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> call().duplicateOn(IOException.class).execute(String.class, () -> sneaky(duplicate)))
			.withCause(duplicate);
	}

	@Test
	void tokenIsTheKeyOfItsCallerAndRunsOnce() {
		IdempotencyKey key = IdempotencyKey.ofToken(Caller.ANONYMOUS, "token-1");
		this.node.store.issue(key, Duration.ofMinutes(1));
		Supplier<IdempotencyTemplate.Call> call = () -> this.template.operation("payment.create").token("token-1");
		assertThat(call.get().execute(String.class, counted("one"))).isEqualTo("one");
		assertThat(call.get().execute(String.class, counted("two"))).isEqualTo("one");
		assertThatExceptionOfType(IdempotencyTokenUnknownException.class)
			.isThrownBy(() -> this.template.operation("o").token("token-2").execute(String.class, counted("two")));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void resultThatIsNotKeptIsLookedUpOrRejected() {
		assertThat(call().keepResult(false).execute(Object.class, counted("one"))).isEqualTo("one");
		assertThat(call().keepResult(false).recover(() -> "found").execute(String.class, counted("two")))
			.isEqualTo("found");
		assertThatExceptionOfType(IdempotencyResultUnavailableException.class)
			.isThrownBy(() -> call().keepResult(false).execute(String.class, counted("three")));
		assertThat(this.runs).hasValue(1);
	}

	@Test
	void callThatContradictsItselfIsRejectedBeforeItRuns() {
		for (Consumer<IdempotencyTemplate.Call> wrong : Arrays.<Consumer<IdempotencyTemplate.Call>>asList(
				(call) -> call.token("t"), (call) -> call.mode(IdempotencyMode.REJECT).fingerprint(1),
				(call) -> call.mode(IdempotencyMode.REJECT).conflict(ConflictMode.WAIT),
				(call) -> call.conflict(ConflictMode.REJECT).waitTimeout(Duration.ofSeconds(1)),
				(call) -> call.mode(IdempotencyMode.LOCK).onFailure(FailureMode.REMEMBER),
				(call) -> call.mode(IdempotencyMode.REJECT).keepResult(false),
				(call) -> call.mode(IdempotencyMode.LOCK).keepResult(false),
				(call) -> call.onFailure(FailureMode.REMEMBER).keepResult(false),
				(call) -> call.mode(IdempotencyMode.REJECT).recover(() -> "found"), (call) -> call.store("other"),
				(call) -> call.transaction(TransactionMode.JOIN))) {
			IdempotencyTemplate.Call call = call();
			assertThatIllegalArgumentException().isThrownBy(() -> {
				wrong.accept(call);
				call.execute(String.class, counted("one"));
			});
		}
		assertThat(this.runs).hasValue(0);
		assertThat(this.node.store.sequence()).isEmpty();
	}

	@Test
	void tokenBelongsToWhomItWasIssuedTo() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.template.operation("payment.create")
				.token("t")
				.scope("tenant")
				.execute(String.class, counted("one")))
			.withMessageContaining("'payment.create' contradicts itself: token contradicts scope");
		assertThat(this.runs).hasValue(0);
	}

	private IdempotencyTemplate.Call call() {
		return this.template.operation("payment.create").key("order-1");
	}

	private IdempotencyTemplate template(IdempotencyOptions defaults) {
		return new DefaultIdempotencyTemplate(this.node.engine, this.node.store, new TextCodec(), defaults);
	}

	private Supplier<String> counted(String value) {
		return () -> {
			this.runs.incrementAndGet();
			return value;
		};
	}

	private static String sneaky(Throwable failure) {
		return DefaultIdempotencyTemplateTests.<RuntimeException>raise(failure);
	}

	/** As another language would throw. */
	@SuppressWarnings("unchecked")
	private static <X extends Throwable> String raise(Throwable failure) throws X {
		throw (X) failure;
	}

}
