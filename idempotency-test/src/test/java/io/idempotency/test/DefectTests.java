package io.idempotency.test;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collection;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.idempotency.store.IdempotencyStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherConfig;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

/**
 * The contract itself: each rule notices a store that breaks it, and a store without a
 * defect breaks none.
 */
class DefectTests {

	private static final String PARAMETER = "idempotency.contract.defect";

	private final Launcher launcher = LauncherFactory
		.create(LauncherConfig.builder().enableTestExecutionListenerAutoRegistration(false).build());

	@ParameterizedTest(name = "a store that {0}")
	@MethodSource("io.idempotency.test.Defects#all")
	void isNoticed(Defect defect) {
		assertThat(broken(run(defect, defect.rules()))).containsExactlyInAnyOrderElementsOf(defect.rules());
	}

	@Test
	void storeWithoutADefectBreaksNoRule() {
		TestExecutionSummary summary = run(Defect.NONE, rules());
		assertThat(broken(summary)).isEmpty();
		assertThat(summary.getTestsSucceededCount()).isEqualTo(rules().size());
	}

	/** A rule that no defect breaks has no meaning. */
	@Test
	void everyRuleIsBrokenByADefect() {
		assertThat(Defects.all()).flatExtracting(Defect::rules).containsAll(rules());
	}

	@Test
	void defectsHaveNamesOfTheirOwn() {
		assertThat(Defects.all()).extracting(Defect::what).doesNotHaveDuplicates();
	}

	private static Set<String> rules() {
		return Arrays.stream(IdempotencyStoreContract.class.getMethods())
			.filter((method) -> method.isAnnotationPresent(Test.class))
			.map((method) -> method.getName())
			.collect(Collectors.toCollection(TreeSet::new));
	}

	private TestExecutionSummary run(Defect defect, Collection<String> rules) {
		LauncherDiscoveryRequest request = LauncherDiscoveryRequestBuilder.request()
			.selectors(rules.stream().map((rule) -> selectMethod(ContractOfADefect.class, rule)).toList())
			.configurationParameter(PARAMETER, defect.what())
			.build();
		SummaryGeneratingListener listener = new SummaryGeneratingListener();
		this.launcher.execute(request, listener);
		return listener.getSummary();
	}

	/**
	 * Returns the rules that say that they are broken; a rule that cannot run says more.
	 */
	private static Set<String> broken(TestExecutionSummary summary) {
		return summary.getFailures().stream().map((failure) -> {
			String rule = failure.getTestIdentifier().getDisplayName().replace("()", "");
			return (failure.getException() instanceof AssertionError) ? rule : rule + ": " + failure.getException();
		}).collect(Collectors.toSet());
	}

	@ExtendWith(Defective.class)
	static final class ContractOfADefect extends IdempotencyStoreContract {

		private final MutableClock clock = new MutableClock();

		private final IdempotencyStore store;

		ContractOfADefect(Defect defect) {
			this.store = defect.store().apply(new KnownStore(this.clock));
		}

		@Override
		public IdempotencyStore store() {
			return this.store;
		}

		@Override
		public void elapse(Duration duration) {
			this.clock.advance(duration);
		}

		@Override
		public int rounds() {
			return 3;
		}

	}

	/** Gives the contract the defect that the run is about. */
	static final class Defective implements ParameterResolver {

		@Override
		public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
			return parameter.getParameter().getType() == Defect.class;
		}

		@Override
		public Defect resolveParameter(ParameterContext parameter, ExtensionContext context) {
			String what = context.getConfigurationParameter(PARAMETER).orElse("");
			return Defects.all()
				.stream()
				.filter((defect) -> defect.what().equals(what))
				.findFirst()
				.orElse(Defect.NONE);
		}

	}

}
