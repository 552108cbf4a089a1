package io.idempotency.it.early;

import org.springframework.test.context.TestPropertySource;

/** With results in the memory of this JVM. */
@TestPropertySource(properties = "idempotency.store=memory")
class EarlyReplayTests extends EarlyReplayContract {

}
