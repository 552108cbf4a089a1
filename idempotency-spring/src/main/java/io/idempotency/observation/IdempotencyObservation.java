package io.idempotency.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of this library, as the default convention creates them.
 *
 * @since 0.1.0
 */
public enum IdempotencyObservation implements ObservationDocumentation {

	/** One guarded call, from the claim to the end of the claim, or to the result. */
	CALL {

		@Override
		public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
			return DefaultIdempotencyObservationConvention.class;
		}

		@Override
		public KeyName[] getLowCardinalityKeyNames() {
			return CallKeyName.values();
		}

		@Override
		public KeyName[] getHighCardinalityKeyNames() {
			return RunKeyName.values();
		}

	};

	/**
	 * The key names of {@link #CALL}, all of low cardinality.
	 */
	public enum CallKeyName implements KeyName {

		/** Name of the operation. */
		OPERATION {

			@Override
			public String asString() {
				return "operation";
			}

		},

		/** Mode of the operation: replay, reject or lock. */
		MODE {

			@Override
			public String asString() {
				return "mode";
			}

		},

		/** Type of the store, such as redis. */
		STORE {

			@Override
			public String asString() {
				return "store";
			}

		},

		/** Outcome of the call; unknown until its end. */
		OUTCOME {

			@Override
			public String asString() {
				return "outcome";
			}

		}

	}

	/**
	 * The key names of {@link #CALL} that only the replay of a traced call has, all of
	 * high cardinality: they are for traces and never for meters.
	 */
	public enum RunKeyName implements KeyName {

		/** The id of the trace of the first call. */
		TRACE_ID {

			@Override
			public String asString() {
				return "idempotency.run.trace-id";
			}

		},

		/** The node that ran the first call. */
		NODE {

			@Override
			public String asString() {
				return "idempotency.run.node";
			}

		}

	}

}
