package io.idempotency.it.servers;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class BackendTests {

	@Test
	void backendThatIsHereIsUsed() {
		assertThat(evaluate(true, "").isDisabled()).isFalse();
		assertThat(evaluate(true, "valkey,mysql").isDisabled()).isFalse();
	}

	@Test
	void backendThatIsNotHereIsLeftOutWithAReason() {
		assertThat(evaluate(false, "").isDisabled()).isTrue();
		assertThat(evaluate(false, "valkey").getReason()).hasValue("LEFT OUT: no Docker is here");
	}

	@Test
	void backendThatIsRequiredAndNotHereIsAFailure() {
		assertThatIllegalStateException().isThrownBy(() -> evaluate(false, "browser, mysql"))
			.withMessage("-Didempotency.tests.required names mysql, but no Docker is here");
	}

	@Test
	void backendIsLeftOutByName() {
		assertThat(evaluate(true, "browser,-mysql").getReason())
			.hasValue("LEFT OUT: -Didempotency.tests.required says -mysql");
	}

	@Test
	void nameThatNobodyKnowsIsAFailure() {
		assertThatIllegalArgumentException().isThrownBy(() -> evaluate(true, "mysql,postgres"))
			.withMessage("-Didempotency.tests.required names 'postgres', which is none of "
					+ "[redis, postgresql, mariadb, mysql, mysql-process, valkey, rabbit, browser, stripe-node, prometheus]");
	}

	/**
	 * A test that is skipped in both workflows is run by nobody else before a release.
	 */
	@Test
	void workflowsLeaveNoBackendOut() throws IOException {
		Set<String> required = new TreeSet<>();
		for (String workflow : List.of("ci.yml", "nightly.yml")) {
			Matcher named = Pattern.compile("-Didempotency\\.tests\\.required=(\\S+)")
				.matcher(Files.readString(Path.of("../../.github/workflows").resolve(workflow)));
			assertThat(named.find()).as(workflow).isTrue();
			required.addAll(List.of(named.group(1).split(",")));
		}
		// Artifacts bring the first three, and a MySQL in a container cannot be killed.
		Set<Backend> optional = EnumSet
			.complementOf(EnumSet.of(Backend.REDIS, Backend.POSTGRESQL, Backend.MARIADB, Backend.MYSQL_PROCESS));
		assertThat(required).containsExactlyInAnyOrderElementsOf(optional.stream().map(Backend::toString).toList());
	}

	private static ConditionEvaluationResult evaluate(boolean here, String required) {
		return Backend.evaluate("mysql", () -> here, "no Docker is here", required);
	}

}
