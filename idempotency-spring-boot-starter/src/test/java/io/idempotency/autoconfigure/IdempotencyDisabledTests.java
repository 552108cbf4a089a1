package io.idempotency.autoconfigure;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;

import io.idempotency.IdempotencyAdmin;
import io.idempotency.IdempotencyCaller;
import io.idempotency.IdempotencyTemplate;
import io.idempotency.IdempotencyTokens;
import io.idempotency.IssuedToken;
import io.idempotency.engine.IdempotencyEngine;
import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.annotation.ImportCandidates;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.Mockito.mock;

/**
 * An application that is switched off by {@code idempotency.enabled=false} works on, and
 * nothing is guarded.
 */
@ExtendWith(OutputCaptureExtension.class)
class IdempotencyDisabledTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(ours()))
		.withPropertyValues("idempotency.enabled=false")
		.withBean(Payments.class);

	private static Class<?>[] ours() {
		return ImportCandidates.load(AutoConfiguration.class, null)
			.getCandidates()
			.stream()
			.filter((name) -> name.startsWith("io.idempotency."))
			.map((name) -> ClassUtils.resolveClassName(name, null))
			.toArray(Class<?>[]::new);
	}

	@Test
	void annotatedMethodsRunEveryTime() {
		this.runner.run((context) -> {
			assertThat(context).doesNotHaveBean(IdempotencyEngine.class).doesNotHaveBean(IdempotencyStore.class);
			Payments payments = context.getBean(Payments.class);
			assertThat(payments.pay("7").number()).isEqualTo(1);
			assertThat(payments.pay("7").number()).isEqualTo(2);
		});
	}

	@Test
	void routesHaveFiltersThatGuardNothing() {
		new WebApplicationContextRunner().withConfiguration(AutoConfigurations.of(ours()))
			.withPropertyValues("idempotency.enabled=false")
			.run((context) -> assertThat(context.getBean(io.idempotency.web.IdempotentRoutes.class)
				.filter("orders", (route) -> route.body("/id"))).isNotNull());
	}

	@Test
	void callersHaveTheIdsThatTheirRecordsHadBefore() {
		IdempotencyCaller alice = IdempotencyCaller.principal("alice");
		ApplicationContextRunner shop = this.runner.withPropertyValues("spring.application.name=shop");
		shop.run((disabled) -> shop.withPropertyValues("idempotency.enabled=true")
			.run((enabled) -> assertThat(disabled.getBean(IdempotencyAdmin.class).callerId(alice))
				.isEqualTo(enabled.getBean(IdempotencyAdmin.class).callerId(alice))));
	}

	@Test
	void actionsOfTheTemplateRunEveryTime() {
		this.runner.run((context) -> {
			AtomicInteger runs = new AtomicInteger();
			IdempotencyTemplate.Call call = context.getBean(IdempotencyTemplate.class)
				.operation("payment.create")
				.key("7")
				.fingerprint("12.50")
				.lease(Duration.ofSeconds(5));
			assertThat(call.execute(Integer.class, runs::incrementAndGet)).isEqualTo(1);
			assertThat(call.call(Integer.class, runs::incrementAndGet)).isEqualTo(2);
			call.run(runs::incrementAndGet);
			assertThat(runs).hasValue(3);
			assertThatExceptionOfType(IOException.class).isThrownBy(() -> call.call(Integer.class, () -> {
				throw new IOException("gateway");
			}));
		});
	}

	@Test
	void futuresOfTheTemplateAreItsOwnAndFailWithTheirCause() {
		this.runner.run((context) -> {
			IdempotencyTemplate.Call call = context.getBean(IdempotencyTemplate.class).operation("pay").key("7");
			CompletableFuture<String> work = new CompletableFuture<>();
			CompletableFuture<String> result = call.executeAsync(String.class, () -> work);
			result.cancel(true);
			assertThat(work).isNotDone();
			work.complete("done");
			assertThat(call.executeAsync(String.class, () -> work)).isCompletedWithValue("done");
			CompletableFuture<String> failed = CompletableFuture.failedFuture(new IOException("gateway"));
			assertThat(call.executeAsync(String.class, () -> failed.thenApply(String::strip)))
				.failsWithin(Duration.ZERO)
				.withThrowableOfType(ExecutionException.class)
				.withCauseExactlyInstanceOf(IOException.class);
		});
	}

	@Test
	void tokensAreIssuedForNobodyToCheck() {
		this.runner.withPropertyValues("idempotency.token.ttl=1h").run((context) -> {
			IdempotencyTokens tokens = context.getBean(IdempotencyTokens.class);
			IssuedToken token = tokens.issue();
			assertThat(token.token()).isNotEmpty().isNotEqualTo(tokens.issue().token());
			assertThat(token.expiresAt()).isAfter(Instant.now().plus(Duration.ofMinutes(50)));
		});
	}

	@Test
	void startUpSaysThatNothingIsGuarded(CapturedOutput output) {
		this.runner.run((context) -> assertThat(output)
			.containsOnlyOnce("idempotency.enabled is false: @Idempotent and IdempotencyTemplate guard no calls"));
	}

	@Test
	void whenTheApplicationHasATemplateThenOursBacksOff() {
		IdempotencyTemplate own = mock(IdempotencyTemplate.class);
		this.runner.withBean("own", IdempotencyTemplate.class, () -> own)
			.run((context) -> assertThat(context).getBean(IdempotencyTemplate.class).isSameAs(own));
	}

	@Test
	void otherwiseEverythingIsGuarded(CapturedOutput output) {
		this.runner.withPropertyValues("idempotency.enabled=true", "idempotency.store=memory").run((context) -> {
			assertThat(context).hasSingleBean(IdempotencyEngine.class).hasSingleBean(IdempotencyTemplate.class);
			assertThat(output).doesNotContain("guard no calls");
		});
	}

}
