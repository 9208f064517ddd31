#include "runtime/execute/flight/flight_deck.h"

#include <algorithm>

#include "runtime/execute/executor_program.h"

namespace mtf {

void FlightDeck::before(PreparedProgram& prepared, std::size_t step) {
  for (const std::size_t number : prepared.steps[step].lands) {
    land(prepared, number);
  }
  for (const std::size_t number : prepared.steps[step].begins) {
    begin(prepared, number);
  }
}

void FlightDeck::lead_on() {
  if (on_their_way_ > 0) {
    communicator_.lead_on();
  }
}

void FlightDeck::land_all(PreparedProgram& prepared) {
  for (std::size_t number = 0; on_their_way_ > 0; ++number) {
    land(prepared, number);
  }
}

void FlightDeck::begin(PreparedProgram& prepared, std::size_t number) {
  FlightStep& flight = prepared.flights[number];
  if (options_.check_agreement) {
    check_agreement(communicator_, flight.group(), StepKind::kAllReduce, flight.hash());
  }
  for (std::size_t s = flight.message().begin; s < flight.last() && options_.timed; ++s) {
    const std::int64_t now = nanoseconds_now();
    tell({.step = s, .time = {.begin = now, .end = now}});
  }
  const std::int64_t begin = nanoseconds_now();
  flight.begin(prepared, communicator_, pool_);
  ++on_their_way_;
  tell({.step = flight.last(), .time = {.begin = begin, .end = nanoseconds_now()}, .flies = true});
}

void FlightDeck::land(PreparedProgram& prepared, std::size_t number) {
  FlightStep& flight = prepared.flights[number];
  if (!flight.is_on_its_way()) {
    return;
  }
  const std::int64_t begin = nanoseconds_now();
  const Landed landed = flight.land(prepared, communicator_);
  const std::int64_t from = std::max(landed.begun, flight.begun());
  --on_their_way_;
  tell({.step = flight.last(),
        .time = {.begin = begin, .end = nanoseconds_now()},
        .resumes = true,
        .flies = true,
        .hidden = std::max<std::int64_t>(std::min(landed.done, begin) - from, 0)});
}

void FlightDeck::tell(StepTime time) const {
  if (!options_.timed) {
    return;
  }
  for (time.rank = 0; time.rank < communicator_.local_ranks().size(); ++time.rank) {
    options_.timed(time);
  }
}

}  // namespace mtf
