package io.idempotency.autoconfigure;

import java.util.List;

import io.idempotency.Idempotent;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.security.access.AccessDeniedException;
import org.springframework.security.access.prepost.PreAuthorize;
import org.springframework.security.authentication.TestingAuthenticationToken;
import org.springframework.security.config.annotation.method.configuration.EnableMethodSecurity;
import org.springframework.security.core.context.SecurityContextHolder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A caller who is denied uses no key and sees no replay. */
class MethodSecurityTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, IdempotencyAutoConfiguration.class))
		.withUserConfiguration(Security.class)
		.withBean(RecordingStore.class)
		.withBean(Accounts.class);

	@AfterEach
	void signOut() {
		SecurityContextHolder.clearContext();
	}

	@Test
	void deniedCallMakesNoClaim() {
		this.runner.run((context) -> {
			signIn("guest");
			assertThatExceptionOfType(AccessDeniedException.class)
				.isThrownBy(() -> context.getBean(Accounts.class).close("7"));
			assertThat(context.getBean(RecordingStore.class).claims).isEmpty();
		});
	}

	@Test
	void deniedCallerSeesNoReplay() {
		this.runner.run((context) -> {
			Accounts accounts = context.getBean(Accounts.class);
			signIn("clerk");
			assertThat(accounts.close("7")).isEqualTo("closed 7");
			signIn("guest");
			assertThatExceptionOfType(AccessDeniedException.class).isThrownBy(() -> accounts.close("7"));
			assertThat(context.getBean(RecordingStore.class).claims).hasSize(1);
		});
	}

	@Test
	void anyAdvisorOrderKeepsTheGuardInside() {
		this.runner.withPropertyValues("idempotency.advisor-order=-1000000").run((context) -> {
			signIn("guest");
			assertThatExceptionOfType(AccessDeniedException.class)
				.isThrownBy(() -> context.getBean(Accounts.class).close("7"));
			assertThat(context.getBean(RecordingStore.class).claims).isEmpty();
		});
	}

	private static void signIn(String role) {
		SecurityContextHolder.getContext()
			.setAuthentication(new TestingAuthenticationToken("ann", "", List.of(() -> "ROLE_" + role)));
	}

	@Configuration(proxyBeanMethods = false)
	@EnableMethodSecurity
	static class Security {

	}

	static class Accounts {

		@Idempotent("#id")
		@PreAuthorize("hasRole('clerk')")
		String close(String id) {
			return "closed " + id;
		}

	}

}
